"""Chat templates of every make, short: how they treat system prompts, spaces and earlier reasoning is what differs."""

from tests.models.tiny_tokenizers import CHATML

LLAMA3 = (
    "{{ '<|begin|>' }}{% for m in messages %}<|header|>{{ m['role'] }}<|/header|>\n\n{{ m['content'] | trim }}<|eot|>{% endfor %}"
    "{% if add_generation_prompt %}<|header|>assistant<|/header|>\n\n{% endif %}"
)
GEMMA = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}<bos>"
    "{% for m in messages %}<turn>{{ 'model' if m['role'] == 'assistant' else m['role'] }}\n{{ m['content'] | trim }}</turn>\n"
    "{% endfor %}{% if add_generation_prompt %}<turn>model\n{% endif %}"
)
MISTRAL = (
    "<s>{% for m in messages %}{% if m['role'] == 'system' %}{{ raise_exception('no') }}{% elif m['role'] == 'user' %}"
    "[INST] {{ m['content'] }} [/INST]{% else %} {{ m['content'] }}</s>{% endif %}{% endfor %}"
)
THINKS = (
    "{% set last = namespace(user=0) %}{% for m in messages %}{% if m['role'] == 'user' %}{% set last.user = loop.index0 %}"
    "{% endif %}{% endfor %}{% for m in messages %}<|im_start|>{{ m['role'] }}\n"
    "{% if m['role'] == 'assistant' and loop.index0 < last.user %}{{ m['content'].split('</think>')[-1].lstrip('\n') }}"
    "{% else %}{{ m['content'] }}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n<think>\n{% endif %}"
)
DEFAULT_SYSTEM = (
    "{% if messages[0]['role'] != 'system' %}<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n{% endif %}" + CHATML
)
LEAVES_OUT = (
    "{% for m in messages[-3:] %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
TEMPLATES = {
    "ChatML": CHATML,
    "Llama 3": LLAMA3,
    "Gemma, which has no system role": GEMMA,
    "Mistral, which has spaces around": MISTRAL,
    "one that opens reasoning and drops it later": THINKS,
    "one with a default system prompt": DEFAULT_SYSTEM,
}
MARKERS = (
    "<|begin|>",
    "<|header|>",
    "<|/header|>",
    "<|eot|>",
    "<bos>",
    "<turn>",
    "</turn>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
)
MARKERS += ("<think>", "</think>")
