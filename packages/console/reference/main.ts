/** The API reference: Scalar with the OpenAPI documents of this listener, and nothing of other servers. */
import { createApiReference } from "@scalar/api-reference"
import "@scalar/api-reference/style.css"
import "./reference.css"

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
  defaultHttpClient: { targetKey: "shell", clientKey: "curl" } as const,
  // Keys are forgotten when the page is closed.
  persistAuth: false,
  defaultOpenAllTags: true,
  documentDownloadType: "direct" as const,
  // Everything below would use or lead to services of Scalar.
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: "never" as const,
  agent: { disabled: true },
  mcp: { disabled: true }
})

read().then(
  (documents) => createApiReference("#reference", documents.map(configurationOf)),
  (error: unknown) => {
    document.body.append("The API reference cannot be loaded. Reload the page to try again.")
    throw error
  }
)
