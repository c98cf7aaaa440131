/** The terms of keys as columns. */
import { Rows } from "@kinora/persistence"
import { Option, Schema } from "effect"
import { IpNetwork } from "effect/net"
import { type KeyTerms, Scope, unrestricted } from "../../KeyTerms.ts"

const Restrictions = Schema.Struct({
  scopes: Schema.optionalKey(Schema.Array(Scope)),
  models: Schema.optionalKey(Schema.Array(Schema.String)),
  networks: Schema.optionalKey(Schema.Array(Schema.String))
})

/** The columns of the terms, selected from a table that is named `key`. */
export const termsColumns = "key.expires_at, key.restrictions"

/** The fields of a row with `termsColumns`. */
export const termsFields = {
  expires_at: Schema.NullOr(Rows.timestamptz),
  restrictions: Restrictions
}

/** Returns the terms of a row: `unrestricted` itself, if nothing is restricted. */
export const toTerms = ({ expires_at, restrictions }: Schema.Struct.Type<typeof termsFields>): KeyTerms =>
  expires_at === null && Object.keys(restrictions).length === 0 ? unrestricted : {
    expiresAt: Option.fromNullOr(expires_at),
    scopes: Option.fromUndefinedOr(restrictions.scopes),
    models: Option.fromUndefinedOr(restrictions.models),
    networks: Option.map(
      Option.fromUndefinedOr(restrictions.networks),
      (networks) => networks.map(IpNetwork.fromStringUnsafe)
    )
  }

/** Returns what the column `restrictions` holds of terms. */
export const restrictionsOf = ({ models, networks, scopes }: KeyTerms): typeof Restrictions.Encoded => ({
  ...Option.isSome(scopes) && { scopes: scopes.value },
  ...Option.isSome(models) && { models: models.value },
  ...Option.isSome(networks) && { networks: networks.value.map(IpNetwork.format) }
})
