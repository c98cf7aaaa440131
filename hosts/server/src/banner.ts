/** What a start says: a page for people, or a line for programs. */
import type { Settings } from "@kinora/hosting"
import { Option, Redacted, type Schema } from "effect"
import { resolve } from "node:path"
import type { Ready } from "./ServerHost.ts"

/** For programs: `base_url`, and the demo account's `api_key` or null. */
export const json = ({ apiKey, baseUrl }: Ready): Schema.Json => ({
  base_url: baseUrl,
  api_key: Option.match(apiKey, { onNone: () => null, onSome: Redacted.value })
})

/** A page with the addresses, the key and a `curl` that creates a job. */
export const page = (ready: Ready, settings: Settings.Settings): string => {
  const { baseUrl } = ready
  const database = settings.databaseUrl === undefined ? "embedded database" : "Postgres"
  const workers = settings.workers === 0 ? "none here" : `${settings.workers} jobs at once`
  const webhooks = settings.webhookSends === 0 ? "not sent from here" : `${settings.webhookSends} sent at once`
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
        ? "shown at the first start, on the host that made the demo account"
        : "of an account that an operator makes; there is no demo account",
    onSome: (key) => `${Redacted.value(key)} (demo account: Studio pro, 1,000 credits)`
  })

const curl = ({ apiKey, baseUrl }: Ready): string =>
  Option.match(apiKey, {
    onNone: () => "",
    onSome: (key) => `
  Make a picture:

    curl -s ${baseUrl}/v1/generations \\
      -H 'Authorization: Bearer ${Redacted.value(key)}' \\
      -H 'Content-Type: application/json' \\
      -d '{"plan":"studio","model":"kinora-sketch-1","params":{"prompt":"a lake at dawn, \\"Stillness\\""}}'

  Then wait for it with the id that came back, and open its output.url:

    curl -s '${baseUrl}/v1/generations/<id>?wait=60' -H 'Authorization: Bearer ${Redacted.value(key)}'
`
  })
