#!/usr/bin/env node
// The command's place of the last release, for one round; it is packages/sallyport/bin/sallyport.mjs.
import '../../sallyport/bin/sallyport.mjs'
