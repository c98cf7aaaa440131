import { assert, it } from "vitest"
import * as readmeExample from "../readmeExample.ts"

const install = "```sh\nnpm install @kinora/ledger effect\n```\n"
const code = "```ts\nconsole.log(1)\n```\n"

it("reads the first installation line and the first TypeScript of a README", () => {
  const markdown = `# ledger\n\n\`\`\`sh\nnode -v\n\`\`\`\n${install}\n${code}\n\`\`\`ts\nconsole.log(2)\n\`\`\`\n`
  assert.deepStrictEqual(readmeExample.read(markdown), {
    packages: ["@kinora/ledger", "effect"],
    code: "console.log(1)\n"
  })
})

it("names what a README lacks", () => {
  assert.throws(() => readmeExample.read(code), "npm install")
  assert.throws(() => readmeExample.read(install), "`ts` block")
})
