import { lazily } from '@sallyport/core/host'

/** The texts of the page in one language. */
export interface ChallengeTexts {
  readonly title: string
  readonly text: string
  /** `{time}`: some seconds, in words. */
  readonly time: string
  /** `{name}`: the provider that asks. */
  readonly provider: string
  readonly done: string
  /** For a visitor who asked for a download: the browser keeps this page. */
  readonly download: string
  readonly cookies: string
  readonly failed: string
  /** For who runs no script where only that earns a pass. */
  readonly script: string
  /** Title of the page, and its status once the pass is there, where a form was sent; nothing of it is kept. */
  readonly formTitle: string
  readonly formDone: string
  /** Text of the link to the page that has the form. */
  readonly back: string
  /** Text of the link to the page that was wanted. */
  readonly again: string
}

/** By language (BCP 47); the first is what a browser gets that reads none of them. */
export const CHALLENGE_TEXTS: Readonly<Record<string, ChallengeTexts>> = {
  en: {
    title: 'One moment',
    text: 'This site checks that you are not an automated program. You will see this page only occasionally.',
    time: 'Waiting time: about {time}.',
    provider: 'The check is made by {name}.',
    done: 'Done. The page opens.',
    download: 'If you asked for a download, it starts and this page stays open.',
    cookies: 'Your browser does not keep the cookie that this needs. Allow cookies for this site, then open the page.',
    failed: 'This did not work. Wait a moment, then open the page.',
    script: 'This needs JavaScript. Allow it for this site, then open the page.',
    formTitle: 'Your form was not sent.',
    formDone: 'Done. Go back and send the form again.',
    back: 'Back to the form',
    again: 'Open the page',
  },
  de: {
    title: 'Einen Moment',
    text: 'Diese Website prüft, dass die Anfrage nicht von einem automatischen Programm kommt. Diese Seite sehen Sie nur ab und zu.',
    time: 'Wartezeit: etwa {time}.',
    provider: 'Die Prüfung führt {name} durch.',
    done: 'Fertig. Die Seite wird geöffnet.',
    download: 'Wenn Sie etwas herunterladen wollten, beginnt der Download, und diese Seite bleibt offen.',
    cookies:
      'Ihr Browser behält das Cookie nicht, das dafür nötig ist. Erlauben Sie dieser Website Cookies und öffnen Sie dann die Seite.',
    failed: 'Das hat nicht geklappt. Warten Sie einen Moment und öffnen Sie dann die Seite.',
    script: 'Dafür ist JavaScript nötig. Erlauben Sie es dieser Website und öffnen Sie dann die Seite.',
    formTitle: 'Ihr Formular wurde nicht gesendet.',
    formDone: 'Fertig. Gehen Sie zurück und senden Sie das Formular noch einmal.',
    back: 'Zurück zum Formular',
    again: 'Seite öffnen',
  },
  fr: {
    title: 'Un instant',
    text: 'Ce site vérifie que vous n’êtes pas un programme automatisé. Cette page n’apparaît que de temps en temps.',
    time: 'Temps d’attente : environ {time}.',
    provider: 'La vérification est faite par {name}.',
    done: 'C’est fait. La page s’ouvre.',
    download: 'Si vous avez demandé un téléchargement, il commence et cette page reste ouverte.',
    cookies:
      'Votre navigateur ne conserve pas le cookie nécessaire. Autorisez les cookies pour ce site, puis ouvrez la page.',
    failed: 'Cela n’a pas fonctionné. Attendez un instant, puis ouvrez la page.',
    script: 'JavaScript est nécessaire. Autorisez-le pour ce site, puis ouvrez la page.',
    formTitle: 'Votre formulaire n’a pas été envoyé.',
    formDone: 'C’est fait. Revenez en arrière et renvoyez le formulaire.',
    back: 'Retour au formulaire',
    again: 'Ouvrir la page',
  },
  es: {
    title: 'Un momento',
    text: 'Este sitio comprueba que usted no es un programa automático. Esta página solo aparece de vez en cuando.',
    time: 'Tiempo de espera: aproximadamente {time}.',
    provider: 'La comprobación la realiza {name}.',
    done: 'Listo. La página se abre.',
    download: 'Si ha solicitado una descarga, comienza y esta página queda abierta.',
    cookies: 'Su navegador no guarda la cookie necesaria. Permita las cookies de este sitio y después abra la página.',
    failed: 'No ha funcionado. Espere un momento y después abra la página.',
    script: 'Se necesita JavaScript. Permítalo en este sitio y después abra la página.',
    formTitle: 'Su formulario no se ha enviado.',
    formDone: 'Listo. Vuelva atrás y envíe el formulario de nuevo.',
    back: 'Volver al formulario',
    again: 'Abrir la página',
  },
  it: {
    title: 'Un momento',
    text: 'Questo sito verifica che tu non sia un programma automatico. Questa pagina compare solo di tanto in tanto.',
    time: 'Tempo di attesa: circa {time}.',
    provider: 'La verifica è eseguita da {name}.',
    done: 'Fatto. La pagina si apre.',
    download: 'Se hai richiesto un download, inizia e questa pagina resta aperta.',
    cookies: 'Il tuo browser non conserva il cookie necessario. Consenti i cookie per questo sito, poi apri la pagina.',
    failed: 'Non ha funzionato. Attendi un momento, poi apri la pagina.',
    script: 'È necessario JavaScript. Consentilo per questo sito, poi apri la pagina.',
    formTitle: 'Il modulo non è stato inviato.',
    formDone: 'Fatto. Torna indietro e invia di nuovo il modulo.',
    back: 'Torna al modulo',
    again: 'Apri la pagina',
  },
  nl: {
    title: 'Een ogenblik',
    text: 'Deze site controleert of u geen automatisch programma bent. U ziet deze pagina maar af en toe.',
    time: 'Wachttijd: ongeveer {time}.',
    provider: 'De controle wordt uitgevoerd door {name}.',
    done: 'Klaar. De pagina wordt geopend.',
    download: 'Als u een download hebt aangevraagd, begint die en blijft deze pagina open.',
    cookies: 'Uw browser bewaart de benodigde cookie niet. Sta cookies voor deze site toe en open dan de pagina.',
    failed: 'Dit is niet gelukt. Wacht even en open dan de pagina.',
    script: 'Hiervoor is JavaScript nodig. Sta het voor deze site toe en open dan de pagina.',
    formTitle: 'Uw formulier is niet verzonden.',
    formDone: 'Klaar. Ga terug en verzend het formulier opnieuw.',
    back: 'Terug naar het formulier',
    again: 'Pagina openen',
  },
  pt: {
    title: 'Um momento',
    text: 'Este site verifica que o pedido não vem de um programa automático. Esta página só aparece de vez em quando.',
    time: 'Tempo de espera: cerca de {time}.',
    provider: 'A verificação é feita por {name}.',
    done: 'Concluído. A página abre-se.',
    download: 'Se pediu uma transferência, ela começa e esta página fica aberta.',
    cookies: 'O seu navegador não guarda o cookie necessário. Permita os cookies deste site e depois abra a página.',
    failed: 'Não funcionou. Aguarde um momento e depois abra a página.',
    script: 'É necessário JavaScript. Permita-o neste site e depois abra a página.',
    formTitle: 'O seu formulário não foi enviado.',
    formDone: 'Pronto. Volte atrás e envie o formulário novamente.',
    back: 'Voltar ao formulário',
    again: 'Abrir a página',
  },
  pl: {
    title: 'Chwileczkę',
    text: 'Ta witryna sprawdza, czy nie odwiedza jej automatyczny program. Ta strona pojawia się tylko od czasu do czasu.',
    time: 'Czas oczekiwania: mniej więcej {time}.',
    provider: 'Sprawdzenie wykonuje {name}.',
    done: 'Gotowe. Strona się otwiera.',
    download: 'Jeśli chodziło o pobranie pliku, rozpocznie się ono, a ta strona pozostanie otwarta.',
    cookies:
      'Przeglądarka nie zachowuje potrzebnego pliku cookie. Zezwól tej witrynie na pliki cookie, a potem otwórz stronę.',
    failed: 'Nie udało się. Odczekaj chwilę, a potem otwórz stronę.',
    script: 'Potrzebny jest JavaScript. Zezwól na niego tej witrynie, a potem otwórz stronę.',
    formTitle: 'Formularz nie został wysłany.',
    formDone: 'Gotowe. Wróć i wyślij formularz ponownie.',
    back: 'Wróć do formularza',
    again: 'Otwórz stronę',
  },
  tr: {
    title: 'Bir dakika',
    text: 'Bu site, isteğin otomatik bir programdan gelmediğini kontrol ediyor. Bu sayfayı yalnızca ara sıra görürsünüz.',
    time: 'Bekleme süresi: yaklaşık {time}.',
    provider: 'Denetimi {name} yapıyor.',
    done: 'Tamam. Sayfa açılıyor.',
    download: 'Bir indirme istediyseniz indirme başlar ve bu sayfa açık kalır.',
    cookies: 'Tarayıcınız gerekli çerezi saklamıyor. Bu site için çerezlere izin verin, ardından sayfayı açın.',
    failed: 'Bu işe yaramadı. Biraz bekleyin, ardından sayfayı açın.',
    script: 'Bunun için JavaScript gerekiyor. Bu site için izin verin, ardından sayfayı açın.',
    formTitle: 'Formunuz gönderilmedi.',
    formDone: 'Tamam. Geri dönüp formu yeniden gönderin.',
    back: 'Forma geri dön',
    again: 'Sayfayı aç',
  },
  ru: {
    title: 'Одну минуту',
    text: 'Этот сайт проверяет, что к нему обращается не автоматическая программа. Эта страница появляется лишь изредка.',
    time: 'Время ожидания: примерно {time}.',
    provider: 'Проверку выполняет {name}.',
    done: 'Готово. Страница открывается.',
    download: 'Если вы запросили загрузку файла, она начнётся, а эта страница останется открытой.',
    cookies:
      'Ваш браузер не сохраняет нужный файл cookie. Разрешите этому сайту файлы cookie, затем откройте страницу.',
    failed: 'Не получилось. Подождите немного, затем откройте страницу.',
    script: 'Для этого нужен JavaScript. Разрешите его этому сайту, затем откройте страницу.',
    formTitle: 'Форма не была отправлена.',
    formDone: 'Готово. Вернитесь назад и отправьте форму ещё раз.',
    back: 'Вернуться к форме',
    again: 'Открыть страницу',
  },
  uk: {
    title: 'Одну хвилину',
    text: 'Цей сайт перевіряє, що до нього звертається не автоматична програма. Ця сторінка з’являється лише зрідка.',
    time: 'Час очікування: приблизно {time}.',
    provider: 'Перевірку виконує {name}.',
    done: 'Готово. Сторінка відкривається.',
    download: 'Якщо ви хотіли завантажити файл, завантаження почнеться, а ця сторінка залишиться відкритою.',
    cookies:
      'Ваш браузер не зберігає потрібний файл cookie. Дозвольте цьому сайту файли cookie, потім відкрийте сторінку.',
    failed: 'Не вдалося. Зачекайте трохи, потім відкрийте сторінку.',
    script: 'Для цього потрібен JavaScript. Дозвольте його цьому сайту, потім відкрийте сторінку.',
    formTitle: 'Форму не було надіслано.',
    formDone: 'Готово. Поверніться назад і надішліть форму ще раз.',
    back: 'Повернутися до форми',
    again: 'Відкрити сторінку',
  },
  ar: {
    title: 'لحظة واحدة',
    text: 'يتأكد هذا الموقع من أن الطلب لا يأتي من برنامج آلي. لا تظهر هذه الصفحة إلا من حين إلى آخر.',
    time: 'مدة الانتظار: {time} تقريبًا.',
    provider: 'يُجري التحقق {name}.',
    done: 'تم. يجري فتح الصفحة.',
    download: 'إذا طلبت تنزيل ملف فسيبدأ التنزيل وتبقى هذه الصفحة مفتوحة.',
    cookies: 'لا يحتفظ متصفحك بملف تعريف الارتباط المطلوب. اسمح لهذا الموقع بملفات تعريف الارتباط، ثم افتح الصفحة.',
    failed: 'لم ينجح ذلك. انتظر قليلًا، ثم افتح الصفحة.',
    script: 'يتطلب ذلك JavaScript. اسمح به لهذا الموقع، ثم افتح الصفحة.',
    formTitle: 'لم يُرسَل النموذج.',
    formDone: 'تم. ارجع وأرسل النموذج مرة أخرى.',
    back: 'العودة إلى النموذج',
    again: 'فتح الصفحة',
  },
  ja: {
    title: '少々お待ちください',
    text: 'このサイトは、自動プログラムからのアクセスでないことを確認しています。このページはときどき表示されるだけです。',
    time: '待ち時間: 約 {time}。',
    provider: '確認は {name} が行います。',
    done: '完了しました。ページを開きます。',
    download: 'ダウンロードの場合は、ダウンロードが始まり、このページは開いたままになります。',
    cookies:
      'お使いのブラウザーは必要な Cookie を保存していません。このサイトの Cookie を許可してから、ページを開いてください。',
    failed: 'うまくいきませんでした。しばらく待ってから、ページを開いてください。',
    script: 'JavaScript が必要です。このサイトで許可してから、ページを開いてください。',
    formTitle: 'フォームは送信されませんでした。',
    formDone: '完了しました。前のページに戻って、もう一度フォームを送信してください。',
    back: 'フォームに戻る',
    again: 'ページを開く',
  },
  ko: {
    title: '잠시만 기다려 주세요',
    text: '이 사이트는 자동 프로그램의 접속이 아닌지 확인합니다. 이 페이지는 가끔만 표시됩니다.',
    time: '대기 시간: 약 {time}.',
    provider: '확인은 {name}에서 진행합니다.',
    done: '완료되었습니다. 페이지를 엽니다.',
    download: '다운로드를 요청하셨다면 다운로드가 시작되고 이 페이지는 열린 상태로 남습니다.',
    cookies: '브라우저가 필요한 쿠키를 저장하지 않습니다. 이 사이트의 쿠키를 허용한 다음 페이지를 열어 주세요.',
    failed: '확인하지 못했습니다. 잠시 기다린 다음 페이지를 열어 주세요.',
    script: 'JavaScript가 필요합니다. 이 사이트에서 허용한 다음 페이지를 열어 주세요.',
    formTitle: '양식이 전송되지 않았습니다.',
    formDone: '완료되었습니다. 뒤로 돌아가 양식을 다시 보내 주세요.',
    back: '양식으로 돌아가기',
    again: '페이지 열기',
  },
  zh: {
    title: '请稍候',
    text: '此网站正在确认访问并非来自自动程序。此页面只会偶尔出现。',
    time: '等待时间：约 {time}。',
    provider: '由 {name} 进行确认。',
    done: '完成。正在打开页面。',
    download: '如果您请求的是下载，下载会开始，此页面将保持打开。',
    cookies: '您的浏览器没有保存所需的 Cookie。请允许此网站使用 Cookie，然后打开页面。',
    failed: '未能成功。请稍等片刻，然后打开页面。',
    script: '需要 JavaScript。请允许此网站使用，然后打开页面。',
    formTitle: '您的表单未提交。',
    formDone: '完成。请返回并重新提交表单。',
    back: '返回表单',
    again: '打开页面',
  },
  'zh-Hant': {
    title: '請稍候',
    text: '此網站正在確認造訪並非來自自動程式。此頁面只會偶爾出現。',
    time: '等待時間：約 {time}。',
    provider: '由 {name} 進行確認。',
    done: '完成。正在開啟頁面。',
    download: '如果您要求的是下載，下載會開始，此頁面將保持開啟。',
    cookies: '您的瀏覽器沒有保存所需的 Cookie。請允許此網站使用 Cookie，然後開啟頁面。',
    failed: '未能成功。請稍候片刻，然後開啟頁面。',
    script: '需要 JavaScript。請允許此網站使用，然後開啟頁面。',
    formTitle: '您的表單未送出。',
    formDone: '完成。請返回並重新送出表單。',
    back: '返回表單',
    again: '開啟頁面',
  },
}

const SECONDS: Readonly<Record<string, () => Intl.NumberFormat>> = Object.fromEntries(
  Object.keys(CHALLENGE_TEXTS).map((lang) => [
    lang,
    lazily(() => new Intl.NumberFormat(lang, { style: 'unit', unit: 'second', unitDisplay: 'long' })),
  ]),
)

/** How long it takes, in a language that has texts. */
export function timeOf(lang: string, seconds: number): string {
  return (CHALLENGE_TEXTS[lang]?.time ?? '').replace('{time}', SECONDS[lang]?.().format(seconds) ?? '')
}

/** The name of the provider that asks, in a language that has texts. */
export function providerOf(lang: string, name: string): string {
  return (CHALLENGE_TEXTS[lang]?.provider ?? '').replace('{name}', () => name)
}
