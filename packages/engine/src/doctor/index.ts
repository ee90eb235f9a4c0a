export { doctor, examineNamed, type Look } from './doctor.ts'
