import { looseText } from '../values/normalise-text.ts';

/** Formats of keys and tokens. Every quantifier is bounded and starts at a word's edge, so a hostile text costs linear time. */
const FORMATS: readonly { kind: string; pattern: RegExp }[] = [
  { kind: 'private key', pattern: /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----/ },
  { kind: 'private key (PuTTY)', pattern: /(?<![\w-])PuTTY-User-Key-File-[23]:/ },
  { kind: 'private key (age)', pattern: /(?<![\w-])AGE-SECRET-KEY-1[0-9A-Z]{58}(?!\w)/ },
  {
    kind: 'JSON Web Token',
    pattern: /(?<![\w-])eyJ[\w-]{10,2000}\.eyJ[\w-]{10,4000}\.[\w-]{16,2000}/,
  },
  { kind: 'Anthropic API key', pattern: /(?<![\w-])sk-ant-[\w-]{24,200}/ },
  {
    kind: 'API key (sk-…)',
    pattern: /(?<![\w-])sk-(?:(?:proj|svcacct|admin|or|lf)-[\w-]{24,250}|[A-Za-z0-9]{32,100}(?![\w-]))/,
  },
  { kind: 'xAI API key', pattern: /(?<![\w-])xai-[A-Za-z0-9]{40,120}(?![\w-])/ },
  { kind: 'Groq API key', pattern: /(?<!\w)gsk_[A-Za-z0-9]{40,80}(?!\w)/ },
  { kind: 'AWS access key', pattern: /(?<![A-Za-z0-9])(?:AKIA|ASIA)[0-9A-Z]{16}(?![A-Za-z0-9])/ },
  {
    kind: 'AWS secret key',
    pattern:
      /(?<![A-Za-z0-9])(?:aws[ _-]?secret[ _-]?(?:access[ _-]?)?|secret[ _-]?access[ _-]?)key[\s"'`*:=|\\]{1,12}(?:(?:is|to|是|为)[\s"'`*:]{0,6})?[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])/i,
  },
  { kind: 'Alibaba Cloud access key', pattern: /(?<![A-Za-z0-9])LTAI[A-Za-z0-9]{12,26}(?![A-Za-z0-9])/ },
  { kind: 'Tencent Cloud secret id', pattern: /(?<![A-Za-z0-9])AKID[A-Za-z0-9]{32}(?![A-Za-z0-9])/ },
  { kind: 'Azure storage key', pattern: /(?<!\w)AccountKey=[A-Za-z0-9+/]{86}==/ },
  { kind: 'Azure client secret', pattern: /(?<![\w.~-])[\w.~-]{3}[78]Q~[\w.~-]{31,34}(?![\w.~-])/ },
  { kind: 'GitHub token', pattern: /(?<!\w)(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_\w{22,255})/ },
  { kind: 'GitLab token', pattern: /(?<![\w-])glpat-[\w-]{20,100}/ },
  { kind: 'Slack token', pattern: /(?<![\w-])(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,200}/ },
  {
    kind: 'Slack webhook',
    pattern: /hooks\.slack\.com\/services\/T[A-Z0-9]{6,14}\/B[A-Z0-9]{6,14}\/[A-Za-z0-9]{20,40}/,
  },
  { kind: 'Google API key', pattern: /(?<![\w-])AIza[\w-]{35}(?![\w-])/ },
  { kind: 'Google OAuth secret', pattern: /(?<![\w-])GOCSPX-[\w-]{28}(?![\w-])/ },
  { kind: 'Google access token', pattern: /(?<![\w.-])ya29\.[\w-]{30,300}/ },
  { kind: 'Stripe key', pattern: /(?<!\w)[sr]k_(?:live|test)_[A-Za-z0-9]{16,250}/ },
  { kind: 'npm token', pattern: /(?<!\w)npm_[A-Za-z0-9]{36}(?!\w)/ },
  { kind: 'PyPI token', pattern: /(?<![\w-])pypi-AgEI[\w-]{50,300}/ },
  { kind: 'Hugging Face token', pattern: /(?<!\w)hf_[A-Za-z0-9]{34,64}(?!\w)/ },
  { kind: 'SendGrid key', pattern: /(?<![\w-])SG\.[\w-]{16,64}\.[\w-]{16,128}/ },
  { kind: 'Twilio key', pattern: /(?<![A-Za-z0-9])SK[0-9a-f]{32}(?![A-Za-z0-9])/ },
  { kind: 'Telegram bot token', pattern: /(?<![\w-])\d{8,10}:AA[\w-]{33}(?![\w-])/ },
  { kind: 'Shopify token', pattern: /(?<!\w)shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}(?!\w)/ },
  { kind: 'DigitalOcean token', pattern: /(?<!\w)do[opr]_v1_[0-9a-f]{64}(?!\w)/ },
  { kind: 'Databricks token', pattern: /(?<!\w)dapi[0-9a-f]{32}(?:-\d)?(?!\w)/ },
  { kind: 'HashiCorp Vault token', pattern: /(?<![\w.])hv[sb]\.[\w-]{24,300}/ },
  { kind: 'Atlassian token', pattern: /(?<!\w)ATATT3x[\w=-]{50,300}/ },
];
/** Nothing without one of these can match a format above. */
const HINT =
  /PRIVATE KEY|PuTTY-|AGE-SECRET|eyJ|sk-|xai-|gsk_|AKIA|ASIA|aws[ _-]?secret|secret[ _-]?access|LTAI|AKID|AccountKey=|[78]Q~|gh[pousr]_|github_pat_|glpat-|xox|xapp-|hooks\.slack|AIza|GOCSPX|ya29|[sr]k_|npm_|pypi-|hf_|SG\.|SK[0-9a-f]{4}|:AA|shp(?:at|ca|pa|ss)_|do[opr]_v1|dapi|hv[sb]\.|ATATT/i;

/** Dashes, invisible characters and full-width letters and digits: what may keep a format from being seen. */
const DISGUISED =
  /[\u00AD\u200B-\u2015\u2060-\u2064\u2212\uFE58\uFE63\uFEFF\uFF0D\uFF10-\uFF19\uFF21-\uFF3A\uFF3F\uFF41-\uFF5A]/;

/** A secret found in a text. `sample` shows its kind and start only. */
export interface FoundSecret {
  kind: string;
  sample: string;
}

/** The first secret of each format in a text. */
export function secretsIn(written: string): FoundSecret[] {
  if (!HINT.test(written) && !DISGUISED.test(written)) return [];
  const text = looseText(written);
  if (!HINT.test(text)) return [];
  return FORMATS.flatMap(({ kind, pattern }) => {
    const found = pattern.exec(text)?.[0];
    return found === undefined ? [] : [{ kind, sample: `${found.slice(0, 8)}… (${found.length} characters)` }];
  });
}
