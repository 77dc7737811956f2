"""What is widely used: packages with programs, scopes of packages, Go modules, hosts of images.

Owns these lists. They say that a name is known, not that what stands behind it is good. Sources: the templates and manuals of
the tools that are named; the clouds' documents on their registries.
"""

from __future__ import annotations

_PACKAGES_WORDS = """
typescript tsc tsx ts-node tsup tsd tsdown esbuild vite vitest jest mocha ava tap c8 nyc playwright cypress puppeteer
eslint prettier biome xo standard stylelint oxlint rome knip depcheck madge dependency-cruiser ts-prune unimported
cspell markdownlint markdownlint-cli markdownlint-cli2 remark remark-cli husky lint-staged commitlint commitizen cz
semantic-release release-it np changeset standard-version npm-check-updates ncu npm-check taze npm-run-all
npm-run-all2 concurrently nodemon pm2 rimraf del-cli cpy-cli shx cross-env dotenv dotenv-cli wait-on
start-server-and-test serve http-server live-server json-server lite-server localtunnel create-vite create-react-app
create-next-app create-remix create-expo-app create-vue create-nuxt create-svelte create-astro create-t3-app
create-turbo create-solid create-preact create-electron-app degit tiged giget yo plop hygen nx turbo lerna rush bit ng
vue nuxi nuxt next astro gatsby gatsby-cli remix svelte-check svelte-kit sv vue-tsc expo expo-cli eas-cli react-native
react-native-cli ionic cap tauri electron electron-builder webpack webpack-cli webpack-dev-server rollup parcel swc
babel babel-cli gulp gulp-cli grunt grunt-cli snowpack microbundle unbuild pkgroll ncc tailwindcss postcss postcss-cli
sass less autoprefixer shadcn shadcn-ui prisma drizzle-kit knex sequelize-cli typeorm mikro-orm kysely-codegen
supabase firebase firebase-tools vercel netlify netlify-cli wrangler serverless sls sst aws-cdk cdk cdktf amplify ampx
heroku surge gh-pages storybook sb chromatic lighthouse pa11y axe unlighthouse size-limit bundlesize bundlewatch
source-map-explorer webpack-bundle-analyzer vite-bundle-visualizer openapi-typescript openapi-generator-cli
swagger-cli redoc-cli graphql-codegen graphql quicktype json2ts json-schema-to-typescript typedoc jsdoc api-extractor
documentation docsify docsify-cli vitepress vuepress docusaurus honkit mermaid mmdc marp repomix gitingest npm yarn
pnpm bun corepack n node only-allow patch-package syncpack manypkg publint attw license-checker license-report
audit-ci better-npm-audit snyk retire allure newman artillery autocannon k6 loadtest clinic 0x why-is-node-running
kill-port fkill-cli open-cli tldr envinfo browserslist update-browserslist-db caniuse-cli caniuse-lite
sort-package-json fixpack prettier-package-json all-contributors auto-changelog conventional-changelog
conventional-changelog-cli git-cz gitmoji-cli opencommit prek pre-commit lefthook claude claude-code ccusage
mcp-inspector mcp-remote asar esrun zx ts-jest jscodeshift codemod jscpd lodash-cli svgo svgr imagemin sharp-cli
pwa-asset-generator ttf2woff2 uuid nanoid skills agent-browser playwright-core pyright basedpyright bats
"""
PACKAGES = frozenset(_PACKAGES_WORDS.split())
"""Packages of npm whose programs are run without being installed."""
_SCOPES_WORDS = """
@modelcontextprotocol @anthropic-ai @openai @google @angular @nestjs @vue @nuxt @playwright @storybook @openapitools
@babel @sveltejs @tailwindcss @shopify @microsoft @azure @aws-amplify @aws-cdk @biomejs @redocly @changesets
@commitlint @antfu @eslint @typescript-eslint @types @prisma @expo @react-native-community @ionic @capacitor
@cloudflare @vercel @netlify @sentry @graphql-codegen @apollo @stoplight @asyncapi @tauri-apps @electron-forge
@electron @nx @lerna @rushstack @swc @vitejs @vitest @tsconfig @mermaid-js @marp-team @slidev @quasar @ui5 @sap
@salesforce @github @gitlab @hey-api @tanstack @trpc @upstash @supabase @neondatabase @convex-dev @clerk @stripe
@twilio @wordpress @docusaurus @11ty @astrojs @remix-run @solidjs @qwik @lingui @formatjs @svgr @parcel @bazel @grpc
@bufbuild @arethetypeswrong @stylistic @figma @notionhq @linear @e2b @browserbasehq @qwen-code @sourcegraph
@google-cloud @cyclonedx @snyk @lhci @axe-core @pact-foundation @stryker-mutator
"""
SCOPES = frozenset(_SCOPES_WORDS.split())
_MODULES_WORDS = """
golang.org/ google.golang.org/ k8s.io/ sigs.k8s.io/ go.uber.org/ honnef.co/ mvdan.cc/ gotest.tools/ gorm.io/
connectrpc.com/ entgo.io/ cuelang.org/ github.com/golang/ github.com/google/ github.com/golangci/
github.com/golang-migrate/ github.com/go-delve/ github.com/vektra/ github.com/sqlc-dev/ github.com/swaggo/
github.com/air-verse/ github.com/cosmtrek/ github.com/pressly/ github.com/bufbuild/ github.com/goreleaser/
github.com/a-h/templ github.com/onsi/ github.com/mgechev/ github.com/securego/ github.com/99designs/
github.com/segmentio/ github.com/charmbracelet/ github.com/spf13/ github.com/matryer/ github.com/maxbrunsfeld/
github.com/oapi-codegen/ github.com/deepmap/ github.com/ogen-go/ github.com/grpc-ecosystem/ github.com/protobufs/
github.com/rakyll/ github.com/uber-go/ github.com/uudashr/ github.com/gotestyourself/ github.com/magefile/
github.com/go-task/ github.com/evilmartians/ github.com/kubernetes github.com/hashicorp/ github.com/aquasecurity/
github.com/anchore/ github.com/sigstore/ github.com/docker/ github.com/cloudflare/ github.com/aws/ github.com/Azure/
github.com/googleapis/ github.com/GoogleCloudPlatform/ github.com/tinygo-org/ github.com/wailsapp/ github.com/rhysd/
github.com/client9/ github.com/fullstorydev/ github.com/ariga/ ariga.io/ github.com/dmarkham/ github.com/alvaroloes/
github.com/daixiang0/ github.com/fzipp/ github.com/boumenot/ github.com/jstemmer/
"""
MODULES = tuple(_MODULES_WORDS.split())
"""What the paths of Go modules begin with."""
_IMAGE_HOSTS_WORDS = """
docker.elastic.co nvcr.io registry.redhat.io registry.access.redhat.com registry.connect.redhat.com lscr.io cgr.dev
container-registry.oracle.com registry.hub.docker.com registry.gitlab.com docker.n8n.io azurecr.io pkg.dev
amazonaws.com public.ecr.aws ocir.io icr.io registry.opensuse.org registry.suse.com registry.fedoraproject.org
registry.digitalocean.com k8s.gcr.io docker.pkg.github.com docker.getoutline.com docker.litellm.ai registry.fly.io
registry.heroku.com codeberg.org container.home-assistant.io jfrog.io docker.redpanda.com cr.weaviate.io mirror.gcr.io
registry.ollama.ai quay.io harbor.io
"""
IMAGE_HOSTS = frozenset(_IMAGE_HOSTS_WORDS.split())
"""A name stands for all below it. The public ones that everybody uses are `host_names.REGISTRIES`."""
