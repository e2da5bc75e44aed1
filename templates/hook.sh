#!/bin/sh
# muniment-hook: 1 sha256=@DIGEST@
# Written by `muniment hooks install`; `muniment hooks uninstall` removes it and puts back what was here.
# MUNIMENT_SKIP=1 skips Muniment's part once; a hook that was here before still runs, and runs first.

earlier="${0%/*}/@NAME@.before-muniment"
if [ -x "$earlier" ]; then
    "$earlier" "$@" || exit $?
fi

if [ -n "${MUNIMENT_SKIP:-}" ]; then
    exit 0
fi

program=@PROGRAM@
if [ ! -x "$program" ]; then
    program=$(command -v muniment) || program=
fi
if [ -z "$program" ]; then
    echo "muniment: error: this repository's @NAME@ hook calls muniment, which is not installed here." >&2
    echo "hint: install it, or skip this check once with MUNIMENT_SKIP=1, or run 'muniment hooks uninstall'." >&2
    exit 1
fi

"$program" check --staged
status=$?
case $status in
    0) ;;
    1) echo "hint: nothing was committed; MUNIMENT_SKIP=1 skips this check once." >&2 ;;
    *)
        echo "muniment: error: the check could not run (exit code $status), so nothing was committed." >&2
        echo "hint: MUNIMENT_SKIP=1 skips it once; '$program --version' shows whether muniment itself works." >&2
        ;;
esac
exit $status
