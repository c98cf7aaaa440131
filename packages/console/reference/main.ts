/** The API reference: Scalar with the OpenAPI documents of this listener, and nothing of other servers. */
import "./reference.css"

declare global {
  interface Window {
    /** Set by the script of Scalar, which runs before this one. */
    readonly Scalar: {
      readonly createApiReference: (selector: string, configuration: ReadonlyArray<unknown>) => unknown
    }
  }
}

/** A document as `/docs/documents.json` lists it. */
interface Document {
  readonly title: string
  readonly slug: string
  readonly url: string
  /** Name of the security scheme that examples use. */
  readonly security: string
}

const read = async (): Promise<ReadonlyArray<Document>> => {
  const response = await fetch("/docs/documents.json")
  if (!response.ok) throw new Error(`The list of documents returned ${response.status}`)
  return response.json()
}

const configurationOf = ({ security, slug, title, url }: Document, index: number) => ({
  title,
  slug,
  url,
  default: index === 0,
  authentication: { preferredSecurityScheme: security },
  defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
  // Keys are forgotten when the page is closed.
  persistAuth: false,
  defaultOpenAllTags: true,
  documentDownloadType: "direct",
  // Everything below would use or lead to services of Scalar.
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: "never",
  agent: { disabled: true },
  mcp: { disabled: true }
})

read().then(
  (documents) => window.Scalar.createApiReference("#reference", documents.map(configurationOf)),
  (error: unknown) => {
    document.body.append("The API reference cannot be loaded. Reload the page to try again.")
    throw error
  }
)
