/** Tokens of operators: secrets of the format of `SecretToken` that begin with `kop_`. */
import { SecretToken } from "@kinora/persistence"

/** Creates tokens, checks their format, and hashes them for storage. */
export const { fromRandom, hash, isWellFormed, make, prefix } = SecretToken.define("kop_", "OperatorToken")
