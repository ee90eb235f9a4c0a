// A loader reads the verdict from the headers, in which no visitor can write it.
export function loader({ request: { headers } }) {
  return Response.json({
    action: headers.get('sallyport-action'),
    networkClass: headers.get('sallyport-network-class'),
  })
}
