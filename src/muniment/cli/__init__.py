"""The command line: parse, call, render.

`main` is the frame, `output` owns wording, colour and JSON, and each noun has one file in `commands/`.
"""
