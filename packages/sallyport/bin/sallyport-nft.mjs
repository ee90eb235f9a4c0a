#!/usr/bin/env node
import { runHelper } from '../dist/src/nft/index.js'

process.exit(await runHelper(process.argv.slice(2)))
