"""What a Gemma 2 GGUF says about its model, in the words of a Hugging Face config and of mlx-lm's `gemma2`.

Every other layer of the model attends to the last 4,096 tokens only; mlx-lm lets all attend to everything, which is the same
up to there.
"""

from engine.models.gguf_file import Header
from engine.models.gguf_gemma import gemma_config, gemma_model
from engine.models.gguf_plan import GgufModel, Settings
from engine.models.gguf_rope import rope_scaling

LAYERS_OF_27B = 46


def read_gemma2(header: Header) -> GgufModel:
    """Return the config and the tensors of a Gemma 2 GGUF; raises as `read_model` does."""
    settings = Settings(header, "Gemma 2")
    rope_scaling(settings)  # mlx-lm's Gemma 2 has none: whatever the file says is refused.
    config = {
        **gemma_config(settings, "gemma2", "Gemma2ForCausalLM", layers_of_27b=LAYERS_OF_27B),
        "attn_logit_softcapping": settings.number("attn_logit_softcapping", default=50.0),
        "final_logit_softcapping": settings.number("final_logit_softcapping", default=30.0),
        "tie_word_embeddings": True,
    }
    return gemma_model(settings, config, normed=False)
