"""The service: studies over HTTP for programs, and a page for people. Extra ``serve``."""
