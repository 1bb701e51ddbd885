-- Services from which runs fetch what they are made of, as the endpoint catalogue names them.
-- Grain: service.
-- Reads: nothing.
-- Parameters: none.
SELECT service, resource_kind
FROM (
    VALUES
    ('Hugging Face Hub', 'model_hub'),
    ('hf-mirror (third party)', 'model_hub'),
    ('Kaggle', 'model_hub'),
    ('Zenodo', 'model_hub'),
    ('OpenAI tiktoken', 'model_hub'),
    ('GitHub', 'git'),
    ('GitLab', 'git'),
    ('PyPI', 'package_index'),
    ('PyPA', 'package_index'),
    ('PyTorch wheels', 'package_index'),
    ('NVIDIA Python index', 'package_index'),
    ('Anaconda', 'package_index'),
    ('npm', 'package_index'),
    ('Rust crates', 'package_index'),
    ('Go modules', 'package_index'),
    ('Debian', 'package_index'),
    ('Ubuntu', 'package_index'),
    ('Alpine', 'package_index'),
    ('Launchpad PPA', 'package_index'),
    ('Microsoft packages', 'package_index'),
    ('NVIDIA CUDA repos', 'package_index'),
    ('NVIDIA container toolkit repo (GitHub Pages)', 'package_index'),
    ('Docker CE', 'package_index'),
    ('Red Hat', 'package_index')
) AS kinds (service, resource_kind)
