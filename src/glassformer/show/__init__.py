"""Views: what a person sees of a recording. Arrays in, pictures out; no network is ever asked."""
