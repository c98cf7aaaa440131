/** The terms of keys as columns. */
import * as SqlApiKeyStore from "@kinora/api-keys/SqlApiKeyStore"
import { Schema } from "effect"
import type { KeyTerms } from "../../KeyTerms.ts"
import { withModels } from "../keyRecords.ts"

/** The fields of a row with `key.expires_at` and `key.restrictions`. */
export const termsFields = {
  ...SqlApiKeyStore.termsFields,
  restrictions: Schema.Struct({
    ...SqlApiKeyStore.termsFields.restrictions.fields,
    models: Schema.optionalKey(Schema.Array(Schema.String))
  })
}

/** Returns the terms of a row. */
export const toTerms = (row: Schema.Struct.Type<typeof termsFields>): KeyTerms =>
  withModels(SqlApiKeyStore.toTerms(row), row.restrictions.models)
