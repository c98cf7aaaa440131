/** Options of identity providers. */
import { MemberRole } from "@kinora/sessions/Member"
import { OperatorRole } from "@kinora/sessions/Session"
import { Duration, Schema } from "effect"

/** Maximum number of groups with a rule. */
const groupsMax = 100

const text = (charsMax: number) => Schema.String.check(Schema.isBetweenLength(1, charsMax))

/** Rights of the people of a group: the role of an operator, or membership of an account. */
const Rule = Schema.Union([
  Schema.Struct({
    /** The role of the operator. */
    operator: OperatorRole
  }),
  Schema.Struct({
    /** The e-mail address or the id of the account. */
    account: text(512),
    /** The role of the member. Default `member`. */
    role: Schema.optionalKey(MemberRole)
  })
])

const Issuer = Schema.String.check(Schema.makeFilter(
  (text) => {
    const url = URL.parse(text)
    return url !== null && (url.protocol === "https:" || url.protocol === "http:") && url.username === "" &&
      url.password === "" && !/[?#]/.test(text)
  },
  { expected: "an http or https URL without user name, query and fragment" }
))

/** Schema of the options of an identity provider. */
export const OidcProvider = Schema.Struct({
  /** Its id in URLs. It is part of the redirect URI that is registered with the provider. */
  id: Schema.String.check(Schema.isPattern(/^[a-z0-9][a-z0-9-]{0,31}$/)),
  /** Its name on the sign-in page. */
  name: text(64),
  /** The issuer, as the discovery document of the provider names it. It can be in a private network. */
  issuer: Issuer,
  client_id: text(512),
  /** Without a secret, the client is a public one: only PKCE protects the code. */
  client_secret: Schema.optionalKey(
    Schema.RedactedFromValue(Schema.String.check(Schema.isBetweenLength(1, 4_096)), { disallowEncode: true })
  ),
  /** How the client sends its secret: `basic` in a header, `post` in the body. Default `basic`. */
  client_authentication: Schema.optionalKey(Schema.Literals(["basic", "post"])),
  /** Scopes to request. Default `openid`, `email` and `profile`. */
  scopes: Schema.optionalKey(
    Schema.Array(Schema.String.check(Schema.isPattern(/^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/))).check(
      Schema.isMaxLength(32),
      Schema.makeFilter((scopes) => scopes.includes("openid"), { expected: "scopes with openid" })
    )
  ),
  /** The claim with the groups of a person: a list of texts, or one text. Default `groups`. */
  groups_claim: Schema.optionalKey(text(256)),
  /** Rights by group. A person of several groups has the rights of all of them. Default: none. */
  groups: Schema.optionalKey(
    Schema.Record(Schema.String, Rule).check(
      Schema.makeFilter((rules) => Object.keys(rules).length <= groupsMax, { expected: `at most ${groupsMax} groups` })
    )
  ),
  /** Time limit of the requests to the provider that a page waits for, together. Default 10 seconds. */
  timeout: Schema.optionalKey(Schema.DurationFromString.check(Schema.makeFilter(
    (timeout) => Duration.between(timeout, { minimum: Duration.seconds(1), maximum: Duration.seconds(30) }),
    { expected: "a time from 1 to 30 seconds" }
  ))),
  /** Allows an issuer with HTTP, for a provider in a private network. Default `false`. */
  allow_http: Schema.optionalKey(Schema.Boolean)
}).check(Schema.makeFilter(
  ({ allow_http, issuer }) => issuer.startsWith("https:") || allow_http === true,
  { expected: "an https issuer, unless allow_http is true" }
))
/** Type of `OidcProvider`. */
export type OidcProvider = typeof OidcProvider.Type

/** Schema of the options of all identity providers of a host: at most 16, whose ids differ. */
export const OidcOptions = Schema.Array(OidcProvider).check(
  Schema.isMaxLength(16),
  Schema.makeFilter((providers) => new Set(providers.map(({ id }) => id)).size === providers.length, {
    expected: "providers whose ids differ"
  })
)
/** Type of `OidcOptions`. */
export type OidcOptions = typeof OidcOptions.Type
