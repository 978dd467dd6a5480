// Serves the scripted answers of counterpart_test.go and prints the address on
// one line. It ends with its standard input.
import { LLMock } from '@copilotkit/aimock';

const mock = new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'silent' });
const script = JSON.parse(process.argv[2]);
for (const { match, response, options } of script) mock.on(match, response, options ?? {});
await mock.start();
console.log(mock.url);
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
