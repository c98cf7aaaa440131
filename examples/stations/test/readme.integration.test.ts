import { ReadmeServer } from "@kinora/testkit"

ReadmeServer.suite(new URL("../", import.meta.url), { commands: 12 })
