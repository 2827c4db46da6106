import js from '@eslint/js';
import ts from 'typescript-eslint';

export default ts.config(
  { ignores: ['**/dist/**'] },
  js.configs.recommended,
  { files: ['**/*.ts', '**/*.tsx'], extends: [...ts.configs.strictTypeChecked], languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/restrict-template-expressions': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unnecessary-condition': 'off',
    } },
  { files: ['**/*.mjs'], languageOptions: { globals: { console: 'readonly', process: 'readonly', performance: 'readonly', setTimeout: 'readonly', TextEncoder: 'readonly', globalThis: 'readonly', document: 'readonly', fetch: 'readonly', queueMicrotask: 'readonly' } } },
);
