#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8'
import { main } from '../dist/src/cli/index.js'

// V8 would collect the whole heap of an idle process, and with it code that the next requests compile again. Node 20 has
// no such flag, and V8 may abort where the flag is set later than in the first seconds of a process.
if (Number.parseInt(process.versions.node, 10) >= 22) setFlagsFromString('--memory-reducer-gc-count=0')

process.exitCode = await main(process.argv.slice(2))
