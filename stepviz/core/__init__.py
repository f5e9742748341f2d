"""The timeline: phases and dependencies, their schedule, exposed time and changes."""
