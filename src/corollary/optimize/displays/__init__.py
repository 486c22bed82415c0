"""Pictures: paths on contours, gaps against steps or time, prices of constraints."""
