import { SallyportError } from '@sallyport/core'
import t from 'tap'
import { describeFailure, failureAnswer } from '../../src/api/answer.ts'

t.test('an error names the id of its request, beside the details that it has', async (t) => {
  const readDetails = (error: SallyportError, id: string | undefined) => {
    const { body } = failureAnswer(describeFailure(error), { headers: {}, retryAfter: 0, id })
    return JSON.parse(String(body)).details
  }
  t.same(readDetails(new SallyportError('invalid_ip'), 'abc'), { requestId: 'abc' })
  t.same(readDetails(new SallyportError('invalid_ip', 'Because.', { at: 3 }), 'abc'), { at: 3, requestId: 'abc' })
  t.same(readDetails(new SallyportError('invalid_ip', 'Because.', { at: 3 }), undefined), { at: 3 })
  t.equal(readDetails(new SallyportError('invalid_ip'), undefined), undefined)
})
