/** Values held against schemas as OpenAPI 3.1 has them: JSON Schema 2020-12, with formats. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import type { OpenApi } from "effect/http-api"

/** What of the JSON text does not fit a schema of the document, in sentences. */
export const jsonProblems = (document: OpenApi.OpenAPISpec, schema: object, text: string): ReadonlyArray<string> => {
  const parsed = parse(text)
  return parsed === undefined ? ["body is no JSON"] : problemsOf(validatorOf(document, schema), parsed.value, "body")
}

/** What of a header's text does not fit its schema: an integer is written in decimal digits. */
export const textProblems = (schema: object, text: string): ReadonlyArray<string> => {
  const isInteger = "type" in schema && schema.type === "integer"
  if (isInteger && !/^(0|-?[1-9]\d*)$/.test(text)) return [`is no integer: ${text}`]
  return problemsOf(validatorOf(undefined, schema), isInteger ? Number(text) : text, "value")
}

/** The schema of an envelope that no operation describes (D42). */
export const envelopeOf = (code: string): Record<string, unknown> => ({
  type: "object",
  properties: {
    error: {
      type: "object",
      properties: {
        code: { type: "string", const: code },
        message: { type: "string", minLength: 1 },
        plan: { type: "null" },
        details: { type: "object" }
      },
      required: ["code", "message", "plan", "details"],
      additionalProperties: false
    }
  },
  required: ["error"],
  additionalProperties: false
})

/** A header that lists all of these, each once, in any order. */
export const listHeader = (words: ReadonlyArray<string>): OpenApi.OpenAPISpecHeader => ({
  required: true,
  schema: {
    type: "string",
    pattern: `^${words.map((word) => `(?=.*\\b${word}\\b)`).join("")}\\w+(, \\w+){${words.length - 1}}$`
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/**
 * Strict: a keyword or a format that is not known here is an error, so that nothing
 * that a document says is passed over. The formats are those of the interface, and
 * as narrow (D4).
 */
const ajv = new Ajv2020({
  strict: true,
  allErrors: true,
  formats: {
    "date-time": (text: string) => instant.test(text) && !Number.isNaN(Date.parse(text)),
    "int64": { type: "number", validate: Number.isSafeInteger }
  }
})
// Where the references of a schema lead.
ajv.addVocabulary(["components"])

const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/

const compiled = new Map<string, ValidateFunction>()

const validatorOf = (document: OpenApi.OpenAPISpec | undefined, schema: object): ValidateFunction => {
  const key = `${document?.info.title} ${JSON.stringify(schema)}`
  const known = compiled.get(key)
  if (known !== undefined) return known
  const validator = ajv.compile(document === undefined ? schema : { ...schema, components: document.components })
  compiled.set(key, validator)
  return validator
}

const problemsOf = (validator: ValidateFunction, value: unknown, name: string): ReadonlyArray<string> =>
  validator(value) ? [] : [ajv.errorsText(validator.errors, { dataVar: name })]

/** The value, which may be anything, in something that is there. */
const parse = (text: string): { readonly value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}
