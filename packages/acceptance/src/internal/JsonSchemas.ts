/** Validates values with schemas of OpenAPI 3.1: JSON Schema 2020-12 with formats. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import type { OpenApi } from "effect/http-api"

/** Differences between a JSON text and a schema of the document, as sentences. */
export const jsonProblems = (document: OpenApi.OpenAPISpec, schema: object, text: string): ReadonlyArray<string> => {
  const parsed = parse(text)
  return parsed === undefined ? ["body is not JSON"] : problemsOf(validatorOf(document, schema), parsed.value, "body")
}

/** Differences between a header and its schema. An integer is written in decimal digits. */
export const textProblems = (schema: object, text: string): ReadonlyArray<string> => {
  const isInteger = "type" in schema && schema.type === "integer"
  if (isInteger && !/^(0|-?[1-9]\d*)$/.test(text)) return [`is not an integer: ${text}`]
  return problemsOf(validatorOf(undefined, schema), isInteger ? Number(text) : text, "value")
}

/** Schema of an error that no operation describes. */
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

/** Schema of a header that lists all of these once, in any order. */
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
 * Strict: unknown keywords and formats are errors, so that nothing in a document is ignored. The formats are those of
 * the contract.
 */
const ajv = new Ajv2020({
  strict: true,
  allErrors: true,
  formats: {
    "date-time": (text: string) => instant.test(text) && !Number.isNaN(Date.parse(text)),
    "int64": { type: "number", validate: Number.isSafeInteger }
  }
})
// Base of the references in a schema.
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

/** Parses JSON. The value is wrapped, because `null` is JSON as well; `undefined` means that the text is not JSON. */
const parse = (text: string): { readonly value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}
