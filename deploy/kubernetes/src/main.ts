import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { kubernetesFiles, secretsTable } from './files.ts';

/** Writes the generated manifests; with `--check` lists the files that are out of date. */
const FOLDER = join(import.meta.dirname, '..');
const ALERTS = join(FOLDER, '../observability/alerts.yaml');
/** Folders that hold only generated files. */
const OWN = ['base', 'components/prometheus', 'components/keda-rabbitmq', 'components/external-secrets'];

const DOCUMENT = '../../docs/kubernetes.md';
const TABLE = /(?<=<!-- secrets -->\n)[\s\S]*(?=<!-- end of secrets -->)/;

const alerts = existsSync(ALERTS) ? parse(readFileSync(ALERTS, 'utf8')).groups : null;
const document = readFileSync(join(FOLDER, DOCUMENT), 'utf8');
const files = new Map([...kubernetesFiles(alerts), [DOCUMENT, document.replace(TABLE, secretsTable())]]);
const there = globSync(
  OWN.map((folder) => `${folder}/**/*.*`),
  { cwd: FOLDER },
);
const strays = there.filter((path) => !files.has(path));

if (process.argv.includes('--check')) {
  const stale = [...files].flatMap(([path, text]) => {
    const file = join(FOLDER, path);
    return existsSync(file) && readFileSync(file, 'utf8') === text ? [] : [path];
  });
  for (const path of [...stale, ...strays]) console.error(`deploy/kubernetes/${path} is stale: npm run kubernetes`);
  if (stale.length + strays.length > 0) process.exitCode = 1;
} else {
  for (const path of strays) rmSync(join(FOLDER, path));
  for (const [path, text] of files) {
    mkdirSync(dirname(join(FOLDER, path)), { recursive: true });
    writeFileSync(join(FOLDER, path), text);
  }
}
