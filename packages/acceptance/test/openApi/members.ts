/** Members of accounts, of operators. */
import { fieldOf, type Walk } from "./Walk.ts"

/** Sends every operation on members, with and without success. */
export const members = async ({ ask, host, send }: Walk): Promise<void> => {
  const operator = { apiKey: host.adminToken }
  const path = `/admin/v1/accounts/${host.account.id}/members`
  const invite = (email: string) => send(`POST ${path}`, { email }, operator)
  const id = fieldOf(await invite("grace@example.com"), "id")
  await invite("grace@example.com")
  await invite("grace")
  await ask(`GET ${path}`, operator)
  for (const role of ["viewer", "king"]) await send(`PATCH ${path}/${id}`, { role }, operator)
  for (let n = 0; n < 21; n++) await ask(`POST ${path}/${id}/sign-in-links`, operator)
  for (const request of [`POST ${path}`, `PATCH ${path}/${id}`]) {
    await send(request, "<xml/>", { ...operator, headers: { "content-type": "application/xml" } })
    await send(request, "x".repeat(1024 * 1024 + 1), operator)
  }
  for (const revokes of ["perhaps", "true", "true"]) {
    await ask(`DELETE ${path}/${id}?revoke_keys=${revokes}`, operator)
  }
  for (let n = 0; n < 101; n++) await invite(`${n}@example.com`)
}
