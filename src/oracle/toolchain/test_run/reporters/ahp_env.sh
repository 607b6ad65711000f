# Lets runners load the reporters of `$dir`, also where the project sets these variables itself (`NODE_OPTIONS=… jest`).
case ":${PYTHONPATH-}:" in *":$dir:"*) ;; *) export PYTHONPATH="$dir${PYTHONPATH:+:$PYTHONPATH}" PYTHONDONTWRITEBYTECODE=1 ;; esac
case ",${PYTEST_PLUGINS-}," in *,ahp_pytest,*) ;; *) export PYTEST_PLUGINS="${PYTEST_PLUGINS:+$PYTEST_PLUGINS,}ahp_pytest" ;; esac
case ${NODE_OPTIONS-} in
"--require=\"$dir/ahp_node.cjs\""*) ;;
*"$dir/ahp_node.cjs"*) export NODE_OPTIONS="--require=\"$dir/ahp_node.cjs\" $NODE_OPTIONS" ;;
*)
    # Before what a project lets be loaded, which could replace what is watched.
    export NODE_OPTIONS="--require=\"$dir/ahp_node.cjs\" --test-reporter=spec --test-reporter-destination=stdout --test-reporter=$dir/ahp_node_test.mjs --test-reporter-destination=stdout${NODE_OPTIONS:+ $NODE_OPTIONS}" ;;
esac
