/** Examples of properties and parameters in an OpenAPI document: ids, times, URLs and values that a description cannot show. */

/** Adds an example to every property and parameter that has a usual one. Changes the document in place. */
export const addExamples = (node: unknown): void => {
  if (typeof node !== "object" || node === null) return
  if ("properties" in node && isRecord(node.properties)) {
    for (const [name, schema] of Object.entries(node.properties)) {
      Object.assign(node.properties, { [name]: withExample(name, schema, schema) })
    }
  }
  if ("in" in node && "name" in node && "schema" in node) {
    Object.assign(node, { schema: withExample(String(node.name), node.schema, node) })
  }
  Object.values(node).forEach(addExamples)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Returns a copy, because operations share schemas of parameters. */
const withExample = (name: string, schema: unknown, described: unknown): unknown => {
  if (!isRecord(schema) || "enum" in schema || "const" in schema || "examples" in schema) return schema
  const example = exampleOf(name, schema, isRecord(described) ? described["description"] : undefined)
  return example === undefined ? schema : { ...schema, examples: [example] }
}

const exampleOf = (name: string, schema: Readonly<Record<string, unknown>>, description: unknown) => {
  const type = typeOf(schema)
  if (type?.format === "date-time") return "2027-01-31T12:00:00.000Z"
  if (type?.type === "integer") return integers[name]
  if (type?.type !== "string" || "pattern" in type || "allOf" in type) return
  const prefix = typeof description === "string" ? /`([a-z]+_)…`/.exec(description)?.[1] : undefined
  return ids[prefix ?? ""] ?? texts[name]
}

/** The schema without the alternative `null`. `undefined` if it has several, or is a reference. */
const typeOf = (schema: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | undefined => {
  if (!Array.isArray(schema["anyOf"])) return schema
  const others = schema["anyOf"].filter((one: unknown) => !isRecord(one) || one["type"] !== "null")
  return others.length === 1 && isRecord(others[0]) && !("enum" in others[0]) ? others[0] : undefined
}

const unique = "01m84vrpmhevrss8sff1trpj8g"

/** Ids by their prefix, as descriptions name it. */
const ids: Readonly<Record<string, string>> = Object.fromEntries(
  ["acct_", "aud_", "cs_", "dlv_", "gen_", "key_", "lot_", "mem_", "opr_", "pay_", "ses_", "whep_", "wrk_"].map((
    prefix
  ) => [
    prefix,
    `${prefix}${unique}`
  ])
)

/** Texts by the name of the property. */
const texts: Readonly<Record<string, string>> = {
  aspect_ratio: "16:9",
  day: "2027-01-31",
  email: "someone@example.com",
  from: "2027-01-01",
  to: "2027-01-31",
  mime: "image/png",
  model: "kinora-still",
  preview_url: `https://api.example.com/v1/generations/gen_${unique}/preview?exp=1801396800&sig=c2lnbmF0dXJl`,
  prompt: "a lake at dawn",
  resolution: "2k",
  secret: "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
  thumb_url: `https://api.example.com/v1/generations/gen_${unique}/thumb?exp=1801396800&sig=c2lnbmF0dXJl`,
  upload_id: `upl_${unique}`
}

/** Integers by the name of the property. */
const integers: Readonly<Record<string, number>> = {
  after_seconds: 2,
  bytes: 482_113,
  cost_credits: 8,
  duration: 5,
  height: 576,
  width: 1024
}
