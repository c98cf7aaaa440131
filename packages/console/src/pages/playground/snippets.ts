/** Code that makes the request of the form. */
import type { CreateGenerationRequest, Kind } from "../../api/types.ts"

/** The languages of snippets, and their names. */
export const languages = [
  ["curl", "curl"],
  ["openai", "OpenAI SDK"],
  ["client", "@kinora/client"]
] as const

/** A language of snippets. */
export type Language = typeof languages[number][0]

/** The request as code. The key is read from the environment. */
export const snippet = (language: Language, request: CreateGenerationRequest, kind: Kind, origin: string): string => {
  switch (language) {
    case "curl":
      return curl(request, origin)
    case "openai":
      return openai(request, kind, origin)
    case "client":
      return client(request, origin)
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const json = (value: unknown): string => JSON.stringify(value, null, 2)

const curl = (request: CreateGenerationRequest, origin: string): string => {
  // A single quote ends the text of a shell, also inside of JSON.
  const body = json(request).replaceAll("'", String.raw`'\''`)
  return `curl ${origin}/v1/generations \\
  -H "Authorization: Bearer $KINORA_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '${body}'`
}

const client = (request: CreateGenerationRequest, origin: string): string =>
  `import { Kinora } from "@kinora/client"

const kinora = new Kinora({
  baseUrl: "${origin}",
  apiKey: process.env.KINORA_API_KEY
})

const result = await kinora.generate(${json(request)})
console.log(result.generation.output.url)`

const sizes: Readonly<Record<string, string>> = {
  "1:1": "1024x1024",
  "3:2": "1536x1024",
  "2:3": "1024x1536",
  "16:9": "1792x1024",
  "9:16": "1024x1792"
}

const openai = ({ model, params, plan }: CreateGenerationRequest, kind: Kind, origin: string): string => {
  if (kind !== "image") return "// The OpenAI-compatible endpoint creates images only. Use curl or @kinora/client."
  const { aspect_ratio: ratio, images, prompt, ...others } = params
  const size = ratio === undefined ? undefined : sizes[ratio]
  const missing = [
    ...Object.keys(others),
    ...(ratio !== undefined && size === undefined ? ["aspect_ratio"] : []),
    ...(images == null ? [] : ["images"])
  ]
  const note = missing.length === 0
    ? ""
    : `// This endpoint cannot express: ${missing.join(", ")}. The model's default applies.\n`
  return `import OpenAI from "openai"

const openai = new OpenAI({
  baseURL: "${origin}/v1",
  apiKey: process.env.KINORA_API_KEY,
  defaultHeaders: { "X-Plan": "${plan}" }
})

${note}const { data } = await openai.images.generate(${
    json({ model, prompt, ...(size === undefined ? {} : { size }) })
  })
console.log(data[0].url)`
}
