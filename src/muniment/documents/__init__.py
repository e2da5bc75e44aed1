"""Documents by stage: what lies where, what it states, goals with their roadmaps and decisions (C13).

Pure except for `catalogue` and `catalogue_files`, which read a working tree or a commit. Start at `stages`.
"""
