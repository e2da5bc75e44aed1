"""The demo: a scratch product with two clones, in which the real commands do the main job (U2)."""
