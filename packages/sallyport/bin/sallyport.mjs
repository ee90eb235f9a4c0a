#!/usr/bin/env node
import { main } from 'sallyport/cli'

process.exitCode = await main(process.argv.slice(2))
