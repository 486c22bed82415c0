"""One entrance: functions, bounds and constraints of any form to a solution with its proof."""
