/** The signatures of a send, in one format or both. */
import { Signature } from "@kinora/webhook-signing"
import * as Standard from "@kinora/webhook-signing/standard"

/**
 * Format of the signatures: `stripe` is `<prefix>Signature: t=…,v1=<hex>`, `standard` is Standard Webhooks with `webhook-id`,
 * `webhook-timestamp` and `webhook-signature`, and `both` has the headers of both.
 */
export type SignatureFormat = "stripe" | "standard" | "both"

/** Options for signatures. */
export interface SignatureOptions {
  readonly signatureFormat: SignatureFormat
  /** Creates the signer of a secret for the format `stripe`. */
  readonly makeSigner: (secret: string) => Signature.Signer | Promise<Signature.Signer>
  readonly headerPrefix: string
}

/** The signers of one secret, one per format of the worker. */
export interface SecretSigners {
  readonly stripe: Signature.Signer | undefined
  readonly standard: Standard.Signer | undefined
}

/** A message to sign. */
export interface Message {
  readonly id: string
  /** Seconds since 1970. */
  readonly timestamp: number
  readonly body: Uint8Array
}

/** Imports the keys of a secret. */
export const makeSigners = async (options: SignatureOptions, secret: string): Promise<SecretSigners> => ({
  stripe: options.signatureFormat === "standard" ? undefined : await options.makeSigner(secret),
  standard: options.signatureFormat === "stripe" ? undefined : await Standard.makeSigner(secret)
})

/** Returns the signature headers of a message, signed with every secret, newest first. */
export const headersOf = async (
  { headerPrefix, signatureFormat }: SignatureOptions,
  secrets: ReadonlyArray<SecretSigners>,
  { body, id, timestamp }: Message
): Promise<Readonly<Record<string, string>>> => {
  const stripe = await Promise.all(secrets.flatMap(({ stripe }) => stripe?.sign(timestamp, body) ?? []))
  const standard = await Promise.all(secrets.flatMap(({ standard }) => standard?.sign(id, timestamp, body) ?? []))
  return {
    ...signatureFormat === "standard" ? {} : { [`${headerPrefix}Signature`]: Signature.format(timestamp, stripe) },
    ...signatureFormat === "stripe" ? {} : Standard.headersOf(id, timestamp, standard)
  }
}
