"""How badly a target fits: functions of numbers, and frozen objects that know their models."""
