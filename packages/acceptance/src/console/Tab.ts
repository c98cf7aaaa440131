/** A tab of a browser. It records everything that a page must not do: errors, violations of its policy, dialogs. */
import type { Browser, BrowserContext, BrowserContextOptions, CDPSession, Page, Response } from "playwright-core"

/** Options of a tab. */
export interface TabOptions {
  readonly viewport?: Viewport | undefined
  readonly theme?: Theme | undefined
  /** Address of the client, as the trusted proxy of the host reports it. */
  readonly address?: string | undefined
}

/** Light or dark. */
export type Theme = "light" | "dark"

/** Size of a tab in CSS pixels. */
export interface Viewport {
  readonly width: number
  readonly height: number
}

/** A desktop. */
export const desktop: Viewport = { width: 1280, height: 900 }

/** A phone. */
export const phone: Viewport = { width: 390, height: 844 }

/** Milliseconds after which an expected element is missing. Files share the cores with others, so a page can take long. */
export const patience = 60_000

/** An open tab in a context of its own, which shares neither cookies nor storage with others. */
export interface Tab {
  readonly page: Page
  readonly context: BrowserContext
  /** Problems since the last call, as sentences. */
  readonly takeProblems: () => ReadonlyArray<string>
  /** Responses with an error status since the last call, as `500 GET /path`. */
  readonly takeRefusals: () => ReadonlyArray<string>
  /** Evaluates an expression that the policy of the page does not restrict, and returns its JSON value. */
  readonly evaluate: (expression: string) => Promise<unknown>
  /** Changes size and theme without loading the page again. */
  readonly show: (viewport: Viewport, theme: Theme) => Promise<void>
  /** Forgets the session, the client address and the page, so that the tab can be used like a new one. */
  readonly reset: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Opens a tab. */
export const open = async (browser: Browser, options: TabOptions = {}): Promise<Tab> => {
  const { address = nextAddress(), theme = "light", viewport = desktop } = options
  const settings: BrowserContextOptions = {
    viewport,
    colorScheme: theme,
    reducedMotion: "reduce",
    locale: "en-GB",
    timezoneId: "UTC",
    extraHTTPHeaders: { "x-forwarded-for": address }
  }
  const context = await browser.newContext(settings)
  const page = await context.newPage()
  page.setDefaultTimeout(patience)
  const { takeProblems, takeRefusals } = record(page)
  const devTools: CDPSession = await context.newCDPSession(page)
  return {
    page,
    context,
    takeProblems,
    takeRefusals,
    evaluate: (expression) => evaluate(devTools, expression),
    show: async (viewport, theme) => {
      await page.setViewportSize(viewport)
      await page.emulateMedia({ colorScheme: theme })
    },
    reset: async () => {
      await page.unrouteAll({ behavior: "ignoreErrors" })
      await context.unrouteAll({ behavior: "ignoreErrors" })
      await page.goto("about:blank")
      await context.clearCookies()
      await context.setExtraHTTPHeaders({ "x-forwarded-for": nextAddress() })
      takeProblems()
      takeRefusals()
    },
    close: () => context.close()
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

let opened = 0

/** An address that is reserved for benchmarks (RFC 2544). */
const nextAddress = (): string => {
  opened++
  return `198.19.${opened >> 8}.${opened & 255}`
}

/** Browsers log every response with an error status. Tests assert those of `takeRefusals`. */
const isAboutResponse = (text: string): boolean => text.startsWith("Failed to load resource")

const record = (page: Page) => {
  let problems: Array<string> = []
  let refusals: Array<string> = []
  page.on("console", (message) => {
    const text = message.text()
    if (["error", "warning"].includes(message.type()) && !isAboutResponse(text)) problems.push(`Console: ${text}`)
  })
  page.on("pageerror", ({ message }) => void problems.push(`Uncaught: ${message}`))
  page.on("dialog", (dialog) => {
    problems.push(`Dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on("response", (response) => {
    if (response.status() >= 400) refusals.push(refusalOf(response))
  })
  return {
    takeProblems: () => {
      const taken = problems
      problems = []
      return taken
    },
    takeRefusals: () => {
      const taken = refusals
      refusals = []
      return taken
    }
  }
}

const refusalOf = (response: Response): string =>
  `${response.status()} ${response.request().method()} ${new URL(response.url()).pathname}`

const evaluate = async (devTools: CDPSession, expression: string): Promise<unknown> => {
  const { exceptionDetails, result } = await devTools.send("Runtime.evaluate", {
    expression,
    awaitPromise: true,
    returnByValue: true
  })
  if (exceptionDetails !== undefined) {
    throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
  }
  return result.value
}
