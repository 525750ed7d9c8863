// Kernel files include this one beside others. Numbers of 8 bits cannot be recorded, and have no name here.
