"""What is kept: image sets, runs, answers, rooms, and the databases that know of them."""
