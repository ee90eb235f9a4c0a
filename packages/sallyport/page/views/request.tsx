import { Explanation } from '../parts/explanation.tsx'
import { Card, Empty } from '../parts/pieces.tsx'
import { place } from '../route.ts'

/** Shows one request, by a link that works while the request is remembered. */
export function OneRequest() {
  const id = place.value.query.get('id') ?? ''
  return <Card title="Explanation">{id === '' ? <Empty>Missing request ID.</Empty> : <Explanation id={id} />}</Card>
}
