/** Output of a start: a page of text, or one line of JSON. */
import type { Settings } from "@kinora/hosting"
import { Option, Redacted, type Schema } from "effect"
import { resolve } from "node:path"
import type { Ready } from "./ServerHost.ts"

/** JSON with `base_url`, and the demo account's `api_key` or null. */
export const json = ({ apiKey, baseUrl }: Ready): Schema.Json => ({
  base_url: baseUrl,
  api_key: Option.match(apiKey, { onNone: () => null, onSome: Redacted.value })
})

/** A page with the addresses, the key and a `curl` command that creates a job. */
export const page = (ready: Ready, settings: Settings.Settings): string => {
  const { baseUrl } = ready
  const database = settings.databaseUrl === undefined ? "embedded database" : "Postgres"
  const workers = settings.workers === 0 ? "none in this process" : `${settings.workers} concurrent jobs`
  const webhooks = settings.webhookSends === 0
    ? "not sent by this process"
    : `${settings.webhookSends} concurrent sends`
  return `
  Kinora is ready.

    Base URL   ${baseUrl}
    API key    ${keyText(ready, settings)}
    Data       ${resolve(settings.dataDirectory)} (${database})
    Workers    ${workers}
    Webhooks   ${webhooks}
    Docs       ${baseUrl}/docs
${curl(ready)}`
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const keyText = ({ apiKey }: Ready, { demoAccount }: Settings.Settings): string =>
  Option.match(apiKey, {
    onNone: () =>
      demoAccount
        ? "printed by the host that created the demo account, at its first start"
        : "none: the demo account is disabled; create an account with the admin API",
    onSome: (key) => `${Redacted.value(key)} (demo account: Studio pro, 1,000 credits)`
  })

const curl = ({ apiKey, baseUrl }: Ready): string =>
  Option.match(apiKey, {
    onNone: () => "",
    onSome: (key) => `
  Create an image:

    curl -s ${baseUrl}/v1/generations \\
      -H 'Authorization: Bearer ${Redacted.value(key)}' \\
      -H 'Content-Type: application/json' \\
      -d '{"plan":"studio","model":"kinora-sketch-1","params":{"prompt":"a lake at dawn, \\"Stillness\\""}}'

  Wait for the returned id, then open its output.url:

    curl -s '${baseUrl}/v1/generations/<id>?wait=60' -H 'Authorization: Bearer ${Redacted.value(key)}'
`
  })
