/** The signature of events: `t=<seconds>,v1=<hex>` over `<seconds>.<body>`, with the whole secret as key. */

/** The result of a check. */
export type SignatureCheck = "valid" | "malformed" | "wrong" | "old"

/** Seconds for which a signature is accepted. */
const toleranceSeconds = 300

/** Checks the header `X-Service-Signature` of a body. */
export const checkSignature = async (
  body: string,
  header: string,
  secret: string,
  nowMillis: number
): Promise<SignatureCheck> => {
  const items = header.trim().split(",").map((item) => item.trim().split("="))
  const [time, ...more] = items.flatMap(([scheme, value]) => scheme === "t" && value !== undefined ? [value] : [])
  const candidates = items.flatMap(([scheme, value]) => scheme === "v1" && value !== undefined ? [value] : [])
  if (time === undefined || more.length > 0 || !/^\d{1,15}$/.test(time) || candidates.length === 0) return "malformed"
  const text = new TextEncoder()
  const algorithm = { name: "HMAC", hash: "SHA-256" }
  const key = await crypto.subtle.importKey("raw", text.encode(secret.trim()), algorithm, false, ["sign"])
  const code = new Uint8Array(await crypto.subtle.sign("HMAC", key, text.encode(`${time}.${body}`)))
  const hex = Array.from(code, (byte) => byte.toString(16).padStart(2, "0")).join("")
  if (!candidates.includes(hex)) return "wrong"
  return nowMillis / 1000 - Number(time) > toleranceSeconds ? "old" : "valid"
}
