import type { ApiHost, Decider, InspectionOptions, V1Options } from '@sallyport/node'
import {
  answer,
  createInspection,
  mountedPath,
  NODE,
  requireApi,
  sendResponse,
  trimBase,
} from '@sallyport/node/internal'
import type { Step, Visit } from './toy-framework.ts'

export { guardUpgrade, type InspectionOptions } from '@sallyport/node'

/** Creates a step that inspects every request; the decision is `visit.shared.get('sallyport')`. */
export function inspection(sallyport: Decider, options: InspectionOptions<Visit> = {}): Step {
  const inspect = createInspection(NODE, sallyport, options)
  return async (visit, next) => {
    const { decision, refusal } = await inspect(visit, visit)
    visit.shared.set('sallyport', decision)
    return refusal === undefined ? next() : sendResponse(visit.res, refusal)
  }
}

/** Creates a step that answers everything under `<base>/v1`. */
export function v1(sallyport: ApiHost, options: V1Options = {}): Step {
  requireApi(sallyport)
  const base = trimBase(options.base)
  return async ({ req, res }, next) => {
    const { url: target = '' } = req
    const path = mountedPath(target, base)
    const answered = path === undefined ? path : await answer(sallyport, req, { res, target, path })
    return answered === undefined ? next() : sendResponse(res, answered)
  }
}
