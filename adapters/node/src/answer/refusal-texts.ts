/** Text for a refused visitor. */
export interface RefusalText {
  readonly title: string
  readonly text: string
}

/** Why somebody sees a page of ours, as far as a visitor needs to know. */
export type RefusalKind = 'blocked' | 'missing' | 'busy' | 'unreachable' | 'invalid'

/** The texts of one language. */
export type RefusalTexts = Readonly<Record<RefusalKind, RefusalText>> & {
  /** Before the request's id. */
  readonly reference: string
  /** Before the site's contact. */
  readonly contact: string
}

/** The kind of a status. */
export function kindOf(status: number): RefusalKind {
  if (status === 403 || status === 401) return 'blocked'
  if (status === 404) return 'missing'
  if (status === 429 || status === 503) return 'busy'
  return status >= 500 ? 'unreachable' : 'invalid'
}

/** By language (BCP 47); the first is what a browser gets that reads none of them. */
export const REFUSAL_TEXTS: Readonly<Record<string, RefusalTexts>> = {
  en: {
    blocked: { title: 'Access denied', text: 'This site does not take this request.' },
    missing: { title: 'Page not found', text: 'There is nothing at this address.' },
    busy: { title: 'Try again in a moment', text: 'This site has more to do than it can do right now.' },
    unreachable: { title: 'Not available', text: 'This site cannot answer right now. Try again in a few minutes.' },
    invalid: { title: 'Request not understood', text: 'Your browser sent something that this site does not take.' },
    reference: 'Reference',
    contact: 'If you think that this is a mistake, write to the site and name the reference:',
  },
  de: {
    blocked: { title: 'Zugriff verweigert', text: 'Diese Website nimmt diese Anfrage nicht an.' },
    missing: { title: 'Seite nicht gefunden', text: 'Unter dieser Adresse gibt es nichts.' },
    busy: { title: 'Bitte gleich noch einmal', text: 'Diese Website hat gerade mehr zu tun, als sie schafft.' },
    unreachable: {
      title: 'Nicht verfügbar',
      text: 'Diese Website kann gerade nicht antworten. Versuchen Sie es in einigen Minuten noch einmal.',
    },
    invalid: { title: 'Anfrage nicht verstanden', text: 'Ihr Browser hat etwas gesendet, das hier nicht gilt.' },
    reference: 'Kennung',
    contact: 'Wenn Sie das für einen Irrtum halten, schreiben Sie der Website und nennen Sie die Kennung:',
  },
  fr: {
    blocked: { title: 'Accès refusé', text: 'Ce site n’accepte pas cette requête.' },
    missing: { title: 'Page introuvable', text: 'Il n’y a rien à cette adresse.' },
    busy: { title: 'Réessayez dans un instant', text: 'Ce site a plus à faire qu’il ne peut en ce moment.' },
    unreachable: {
      title: 'Indisponible',
      text: 'Ce site ne peut pas répondre pour l’instant. Réessayez dans quelques minutes.',
    },
    invalid: { title: 'Requête non comprise', text: 'Votre navigateur a envoyé quelque chose que ce site refuse.' },
    reference: 'Référence',
    contact: 'Si vous pensez qu’il s’agit d’une erreur, écrivez au site en indiquant la référence :',
  },
  es: {
    blocked: { title: 'Acceso denegado', text: 'Este sitio no acepta esta solicitud.' },
    missing: { title: 'Página no encontrada', text: 'No hay nada en esta dirección.' },
    busy: { title: 'Inténtelo en un momento', text: 'Este sitio tiene ahora más trabajo del que puede atender.' },
    unreachable: {
      title: 'No disponible',
      text: 'Este sitio no puede responder ahora. Inténtelo de nuevo en unos minutos.',
    },
    invalid: { title: 'Solicitud no entendida', text: 'Su navegador envió algo que este sitio no acepta.' },
    reference: 'Referencia',
    contact: 'Si cree que se trata de un error, escriba al sitio e indique la referencia:',
  },
  it: {
    blocked: { title: 'Accesso negato', text: 'Questo sito non accetta questa richiesta.' },
    missing: { title: 'Pagina non trovata', text: 'A questo indirizzo non c’è nulla.' },
    busy: {
      title: 'Riprova tra un momento',
      text: 'In questo momento il sito ha più richieste di quante ne possa servire.',
    },
    unreachable: {
      title: 'Non disponibile',
      text: 'Il sito non può rispondere in questo momento. Riprova tra qualche minuto.',
    },
    invalid: {
      title: 'Richiesta non compresa',
      text: 'Il tuo browser ha inviato qualcosa che questo sito non accetta.',
    },
    reference: 'Riferimento',
    contact: 'Se pensi che sia un errore, scrivi al sito indicando il riferimento:',
  },
  nl: {
    blocked: { title: 'Toegang geweigerd', text: 'Deze site neemt dit verzoek niet aan.' },
    missing: { title: 'Pagina niet gevonden', text: 'Op dit adres is niets te vinden.' },
    busy: { title: 'Probeer het zo opnieuw', text: 'Deze site heeft nu meer te doen dan zij aankan.' },
    unreachable: {
      title: 'Niet beschikbaar',
      text: 'Deze site kan nu niet antwoorden. Probeer het over enkele minuten opnieuw.',
    },
    invalid: { title: 'Verzoek niet begrepen', text: 'Uw browser stuurde iets dat deze site niet aanneemt.' },
    reference: 'Kenmerk',
    contact: 'Denkt u dat dit een vergissing is, schrijf dan de site en noem het kenmerk:',
  },
  pt: {
    blocked: { title: 'Acesso negado', text: 'Este site não aceita este pedido.' },
    missing: { title: 'Página não encontrada', text: 'Não há nada neste endereço.' },
    busy: { title: 'Tente novamente daqui a pouco', text: 'Este site tem agora mais pedidos do que pode atender.' },
    unreachable: {
      title: 'Indisponível',
      text: 'Este site não pode responder agora. Tente novamente dentro de alguns minutos.',
    },
    invalid: { title: 'Pedido não compreendido', text: 'O seu navegador enviou algo que este site não aceita.' },
    reference: 'Referência',
    contact: 'Se acha que se trata de um erro, escreva ao site e indique a referência:',
  },
}
