export { commandTable, main } from './main.ts'
