/** The JSON Schema of the configuration file, for editors. */
import { PlanTable } from "@kinora/accounts"
import { Model } from "@kinora/catalog"
import { Schema } from "effect"
import { type Definition, definitions } from "./definitions.ts"

/** A JSON Schema, or a part of one. */
export type JsonSchema = Readonly<Record<string, Schema.Json>>

/** Returns the schema of the file. The options of drivers and of moderations are objects of any content. */
export const fileSchema = (): JsonSchema => ({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "Kinora configuration",
  type: "object",
  additionalProperties: false,
  properties: {
    ...Object.fromEntries(
      Object.entries<Definition>(definitions).map(([key, definition]) => [key, settingOf(definition)])
    ),
    drivers: { type: "object", description: "Drivers by name: a module, and its options." },
    models: { ...schemaOf(Schema.Array(Model.Model)), description: "Models on sale. Default: the built-in models." },
    moderation: { type: "object", description: "Rules about prompts, input images and results." },
    oidc: {
      type: "array",
      items: { type: "object" },
      description: "Identity providers, with which people sign in to the console."
    },
    plans: { ...schemaOf(PlanTable.PlanTable), description: "Slots, quotas and prices of the plan tiers." }
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The schemas of the file have no names, so they need no definitions. */
const schemaOf = (schema: Schema.Constraint): JsonSchema =>
  Schema.toJsonSchemaDocument(Schema.toEncoded(schema), { onExcessProperty: "error" }).schema as JsonSchema

/** Returns the schema of a setting: of its value in YAML, not of the text of its variable. */
const settingOf = ({ about, default: fallback, isList, schema }: Definition): JsonSchema => {
  const value = schemaOf(Schema.toType(schema))
  const isFlag = Array.isArray(value["enum"]) && value["enum"].includes("true")
  const accepted = isFlag
    ? { type: "boolean" }
    : isList === true
    ? { anyOf: [value, { type: "string" }] }
    : value
  return { ...accepted, description: about, ...(fallback === undefined ? {} : { default: scalarOf(fallback) }) }
}

/** Returns the YAML value of the text of a default. */
const scalarOf = (text: string): string | number | boolean =>
  text === "true" || text === "false" ? text === "true" : /^\d+$/.test(text) ? Number(text) : text
