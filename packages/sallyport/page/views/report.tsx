import { Report as Sections } from '../parts/report.tsx'
import { linkTo } from '../route.ts'

/** Reports all requests by the hour, and the visitors that the policy affects. */
export function Report() {
  return (
    <>
      <Sections path="report" />
      <p>
        <a href={linkTo('policy')}>Change the policy</a>
      </p>
    </>
  )
}
