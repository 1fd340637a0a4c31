# Tests with bad input and bad peers.
