"""How hyper-parameters are learnt: where to search and how to climb."""
